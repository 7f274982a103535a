"""Code decides: one pure module per decision family, reasons in `reasons`. Imports `contracts` and `errors`; no I/O, clock or chance."""
