"""More of what a hostile reader found in conversations: what is told of earlier work, what counts as done, who is served, how much is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ordain.contracts.verbs import ArgumentRole
from ordain.errors import Refused
from ordain.verbs.functions import FunctionVerb, VerbError, verb
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of, unequal
from tests.shapes.talk import WORKSPACE, House, Puppet, act, finish, talk_settings
