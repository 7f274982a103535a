"""A rule and a kind of run of your own: code decides, and all of it is on record and replayed.

Prints:
    completed: size.fits
    failed: size.too_large
    replayed: equal
"""

import asyncio

import msgspec

from ordain import Ordain
from ordain.app import Extras
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Settlement
from ordain.journal.records import Status, raw
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason
from ordain.runtime.replay import replay


class Why(Reason):
    FITS = "size.fits", "There is enough in store."
    LARGE = "size.too_large", "There is not enough in store."


class Size(msgspec.Struct, frozen=True, tag="size"):
    pieces: int


def judge(order: Size, _: None, __: object) -> Decision[Size]:
    return Decision(outcome=order, reason=Why.FITS if order.pieces <= 10 else Why.LARGE)


async def weigh(context: FlowContext, order: Size) -> str:
    return context.fx.decide(RULE, order, None).reason


def settle(said: str) -> Settlement:
    return Settlement(status=Status.COMPLETED if said == Why.FITS else Status.FAILED, reason=said)


RULE = Rule(name="size", outcome=Size, apply=judge, reasons=(Why,))
READ = msgspec.json.Decoder(Size).decode
ORDER = Kind(name="order", version=1, run=weigh, decode_input=READ, settle=settle, rules=(RULE,))


async def main() -> None:
    async with Ordain(extras=Extras(kinds=[ORDER], memory=True)) as ordain:
        for pieces in (4, 40):
            opened = await ordain.runtime.open("order", raw(Size(pieces)), "local:shop")
            stored = (await ordain.runtime.wait(opened.run)).stored
            print(f"{stored.status}: {stored.reason}")
        print("replayed:", replay(stored, ordain.catalog, ordain.kinds).verdict)


if __name__ == "__main__":
    asyncio.run(main())
