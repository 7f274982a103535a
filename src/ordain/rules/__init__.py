"""Code decides: one pure module per decision family, reasons in `reasons`. Imports `wording`,
`contracts` and `errors`; no I/O, clock or chance.
"""
