"""A pure, sandboxed renderer of templates, the templates that come with code, and the input of a
verb step's prompt. Imports `effects` and below.
"""
