"""Labels in; agreement coefficients with intervals, and reports, out. Knows nothing of studies."""
