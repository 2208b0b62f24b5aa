"""How far the drawn body misses the source's joints is kept with each rendered clip."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("media", sa.Column("fit_error_mm", sa.JSON(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("media") as batch:
        batch.drop_column("fit_error_mm")
