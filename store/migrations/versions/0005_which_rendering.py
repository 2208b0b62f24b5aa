"""Which motion a rendered clip shows and when it was last asked for are kept with it."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("media", sa.Column("motion_hash", sa.String(), nullable=True))
    op.add_column("media", sa.Column("rendered_at", sa.Double(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("media") as batch:
        batch.drop_column("rendered_at")
        batch.drop_column("motion_hash")
