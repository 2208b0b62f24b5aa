"""Pauses, deadlines, unblinding, retired experts, withdrawn items, checks, joint editing, e-mail.

SQLite makes a table anew to change a constraint, so ``store.session`` runs revisions with its
foreign keys unguarded and checks them before the commit.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # SQLite does not tell of check constraints, so a table made anew has lost them already.
    keeps_checks = op.get_bind().dialect.name != "sqlite"

    for name in ("paused_at", "deadline", "unblinded_at"):
        op.add_column("study", sa.Column(name, sa.Double(), nullable=True))
    op.add_column("member", sa.Column("retired_at", sa.Double(), nullable=True))
    op.add_column("person", sa.Column("email", sa.String(), nullable=True))
    op.create_index("person_email_ix", "person", ["email"], unique=True)

    with op.batch_alter_table("study_item", recreate="auto") as table:
        if keeps_checks:
            table.drop_constraint("study_item_purpose_ck", type_="check")
        table.create_check_constraint(
            "study_item_purpose_ck", "purpose IN ('work','training','attention')"
        )
        table.add_column(sa.Column("group_key", sa.String(), nullable=True))
        table.add_column(sa.Column("withdrawn_at", sa.Double(), nullable=True))
        table.add_column(sa.Column("reserved_for", sa.JSON(), nullable=True))

    with op.batch_alter_table("assignment", recreate="auto") as table:
        if keeps_checks:
            table.drop_constraint("assignment_state_ck", type_="check")
        table.drop_constraint("assignment_once_uq", type_="unique")
        table.add_column(sa.Column("purpose", sa.String(), nullable=False, server_default="work"))
        table.create_check_constraint(
            "assignment_state_ck", "state IN ('held','done','surplus','retired')"
        )
        table.create_check_constraint(
            "assignment_purpose_ck", "purpose IN ('work','attention','repeat')"
        )
        table.create_unique_constraint(
            "assignment_once_uq", ["study_id", "item_id", "person_id", "purpose"]
        )

    op.create_table(
        "joint_seat",
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("study_id", "item_id", "person_id"),
    )
    op.create_table(
        "joint_note",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("study_id", sa.String(), nullable=False),
        sa.Column("item_id", sa.String(), nullable=False),
        sa.Column("person_id", sa.String(), nullable=True),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.ForeignKeyConstraint(["item_id"], ["item.id"]),
        sa.ForeignKeyConstraint(["person_id"], ["person.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("joint_note_item_ix", "joint_note", ["study_id", "item_id"], unique=False)
