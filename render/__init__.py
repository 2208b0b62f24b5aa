"""A motion in; a clip, a poster out. Other products and backends join here."""
