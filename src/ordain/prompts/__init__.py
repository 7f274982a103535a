"""One typed input and one template per prompt, and a pure, sandboxed renderer. Imports `rules` and below."""
