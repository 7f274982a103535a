"""What was set up, told to people: where it stands, its key, what it costs, who asks it."""

from __future__ import annotations

from ordain.cli.hints import in_folder
from ordain.cli.model_profiles import NO_PRICE, profile_view, usd
from ordain.cli.output import show
from ordain.cli.profile_files import SettingsFiles
from ordain.models.prices import ListPrice
from ordain.settings import Settings


def tell(settings: Settings, name: str, files: SettingsFiles, price: ListPrice | None) -> None:
    """What was set up, for people."""
    view = profile_view(settings, name, in_file=True)
    show(f"profile {name} is in {files.config}: {view['provider']}, {view['model']}")
    show(f"key: {view['key']}")
    if view["counts_as_free"]:
        show(
            in_folder(f"{NO_PRICE}; ordain models add gives one: --price-input and --price-output")
        )
    elif price is not None:
        show(
            f"price: {usd(price.input * 1000)} in, {usd(price.output * 1000)} out per million "
            f"tokens ({price.model}, {price.priced_on}, {price.source})"
        )
        for tier in price.tiers:
            dear = (
                f"{usd(tier.usd_micros_per_1k_input * 1000)} in, "
                f"{usd(tier.usd_micros_per_1k_output * 1000)} out"
            )
            show(f"calls whose prompt has more than {tier.above_tokens} tokens: {dear}")
    if settings.profiles[name].vision:
        show("pictures: shown to it")
    behind = {
        str(lane): names for lane, names in settings.policy.lanes.profiles.items() if name in names
    }
    show(
        "lanes: "
        + (
            "; ".join(f"{lane}: {', '.join(names)}" for lane, names in behind.items())
            or "none names it, so nothing is asked of it; the same command with --lane brain "
            "--replace puts it first there"
        )
    )
