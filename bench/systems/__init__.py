"""One module per measured system; each offers ``opened(home, url)``, which yields a ``Ready``.

``url`` None is the model in the same process, otherwise the model server's address.
"""
