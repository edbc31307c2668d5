"""How good it was: data sets, metrics, mechanism diagnosis."""
