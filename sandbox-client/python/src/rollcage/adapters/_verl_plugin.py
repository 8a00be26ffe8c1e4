"""What verl loads at its start (entry point `verl.plugins`): adds the estimators of
`rollcage.adapters.verl`.
"""

from .verl import register

register()
