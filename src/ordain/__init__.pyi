from ordain.app import Ordain as Ordain
from ordain.collector import tune_collector as tune_collector
from ordain.contracts.cards import Agent as Agent
from ordain.errors import OrdainError as OrdainError
from ordain.verbs import FunctionVerb as FunctionVerb
from ordain.verbs import VerbContext as VerbContext
from ordain.verbs import VerbError as VerbError
from ordain.verbs import verb as verb

__all__ = ["Agent", "FunctionVerb", "Ordain", "OrdainError", "VerbContext", "VerbError", "__version__", "tune_collector", "verb"]
__version__: str
