"""The embedder of the installation: its files are read when a text is embedded, and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError
from ordain.models import embedding
from ordain.models.embedding import StaticEmbedder, installed_embedder


def test_nothing_is_read_before_a_text_is_embedded() -> None:
    """Its name and how long its vectors are, which say whether there is anything to embed, need
    neither its files nor the libraries that read them.
    """
    said = (
        "import sys\n"
        "from ordain.models.embedding import StaticEmbedder\n"
        "made = StaticEmbedder()\n"
        "assert made.name.startswith('wordllama-') and made.dimension == 256\n"
        "read = {'tokenizers', 'safetensors', 'numpy'} & set(sys.modules)\n"
        "assert not read, read\n"
        "assert len(made.embed(['a word'])[0]) == 4 * made.dimension\n"
        "assert 'tokenizers' in sys.modules\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", said], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("broken", ["WEIGHTS", "TOKENIZER"])
def test_files_that_cannot_be_read_give_no_vector(
    broken: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each text gets the vector that counts as none, and the log says why, once."""
    (tmp_path / "broken").write_bytes(b"no such thing")
    monkeypatch.setattr(embedding, broken, str(tmp_path / "broken"))
    made = StaticEmbedder()
    for _ in range(2):
        assert made.embed(["a word", "another"]) == [bytes(4 * made.dimension)] * 2
    assert [record.getMessage()[:12] for record in caplog.records] == ["no vectors: "]


def test_without_the_extra_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever makes one is told what to install, and the installation has none."""
    monkeypatch.setattr(embedding, "PACKAGE", "ordain-has-no-such-package")
    embedding._static.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(ConfigurationError) as refused:
        StaticEmbedder()
    assert refused.value.code == "extra_missing"
    assert installed_embedder() is None
    monkeypatch.undo()
    assert installed_embedder() is not None
