"""The workspace database: tables, migrations, sessions, and what is read and written there."""
