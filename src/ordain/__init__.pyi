from ordain.app import Ordain as Ordain
from ordain.collector import tune_collector as tune_collector
from ordain.contracts.cards import Agent as Agent
from ordain.contracts.results import CallResult as CallResult
from ordain.contracts.results import DeliberationResult as DeliberationResult
from ordain.contracts.results import PlanResult as PlanResult
from ordain.errors import OrdainError as OrdainError
from ordain.verbs import FunctionVerb as FunctionVerb
from ordain.verbs import VerbContext as VerbContext
from ordain.verbs import VerbError as VerbError
from ordain.verbs import verb as verb

__all__ = [
    "Agent",
    "CallResult",
    "DeliberationResult",
    "FunctionVerb",
    "Ordain",
    "OrdainError",
    "PlanResult",
    "VerbContext",
    "VerbError",
    "__version__",
    "tune_collector",
    "verb",
]
__version__: str
