"""The tables of access: tokens, the digests of their secrets, and the audit of their use."""

from __future__ import annotations

ACCESS_TABLES = """
CREATE TABLE tokens(
  no INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, workspaces TEXT NOT NULL, rate TEXT,
  created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER, last_used_at INTEGER);
CREATE TABLE token_secrets(
  id TEXT PRIMARY KEY, token INTEGER NOT NULL, digest BLOB NOT NULL, created_at INTEGER NOT NULL, ends_at INTEGER) WITHOUT ROWID;
CREATE INDEX token_secrets_token ON token_secrets(token);
CREATE TABLE token_audit(
  no INTEGER PRIMARY KEY, day INTEGER, event TEXT NOT NULL, token TEXT NOT NULL, asked TEXT NOT NULL, reason TEXT NOT NULL,
  by TEXT NOT NULL, address TEXT NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, count INTEGER NOT NULL);
CREATE UNIQUE INDEX token_audit_day ON token_audit(day, event, token, asked, reason) WHERE day IS NOT NULL;
CREATE INDEX token_audit_token ON token_audit(token, no);
"""
