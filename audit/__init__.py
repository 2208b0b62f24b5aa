"""People: studies, protocols, assignment, labels, adjudication, access."""
