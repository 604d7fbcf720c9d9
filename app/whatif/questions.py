"""The what-if questions about a plan. The pages list them, and each is a command of the command line.

Modules are named by strings, because importing them takes most of the time that a command needs to start.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from app.web.question_links import QuestionLink

if TYPE_CHECKING:
    from fastapi import APIRouter

    from app.fits.kept import Curves
    from planner_core.document.model import PlanDocument
    from planner_core.questions import Question
    from planner_core.wire import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfQuestion(QuestionLink):
    """A question about a plan, with its command and the names of its parts in the core."""

    pages: str
    """The module of its page in `app.whatif`."""
    verb: str
    """The command below `cfplan whatif`."""
    help: str
    module: str
    """The module of its model in `planner_core`."""
    model: str
    """The name of its model in that module."""
    function: str = ""
    """The function that answers it from a plan, the question and a curve; empty if its command calls the core itself.
    """

    def router(self) -> APIRouter:
        """Return the routes of its page, imported when it is used."""
        found: APIRouter = import_module(f"app.whatif.{self.pages}").router
        return found

    def question(self) -> type[Question]:
        """Return the model of the question, imported when it is used."""
        found: type[Question] = self._named(self.model)
        return found

    def answer(self, document: PlanDocument, asked: Question, curves: Curves) -> Answer:
        """Answer the question with the fitted curve that the plan names."""
        from app.whatif.answers import ask

        found: Answer = ask(self._named(self.function), document, asked, curves)
        return found

    def _named(self, name: str) -> Any:  # noqa: ANN401 - a model or a function
        return getattr(import_module(f"planner_core.{self.module}"), name)


QUESTIONS: tuple[WhatIfQuestion, ...] = (
    WhatIfQuestion(
        path="/whatif/cf-loss",
        title="Losing a coupling facility",
        about="The placement of each structure by XCF and the deciding rule; after the loss of a coupling facility or a site, "
        "moves, structures that cannot be placed, lost messages, and the white space to keep.",
        docs="how-to/losing-a-cf",
        command="cfplan whatif cf-loss PLAN",
        pages="loss_pages",
        verb="cf-loss",
        help="Simulate the loss of each coupling facility and site: moves, and structures that cannot be placed.",
        module="whatif.loss",
        model="LossQuestion",
    ),
    WhatIfQuestion(
        path="/whatif/upgrade",
        title="Upgrades and growth",
        about="A higher CFCC level, more queue managers, years of growth: every structure before and after, with the "
        "statements.",
        docs="how-to/upgrades-and-growth",
        command="cfplan whatif upgrade PLAN",
        pages="growth_pages",
        verb="upgrade",
        help="Compare a plan before and after higher CFCC levels, one more queue manager, and growth.",
        module="whatif.growth",
        model="UpgradeQuestion",
    ),
    WhatIfQuestion(
        path="/whatif/recovery",
        title="Backup and recovery",
        about="The size of a backup of each structure, the log data between two backups, the recovery time at your log rate, "
        "and how often to back up.",
        docs="how-to/backup-and-recovery",
        command="cfplan whatif recovery PLAN",
        pages="recovery_pages",
        verb="recovery",
        help="Calculate backups of structures, their log data, and the duration of recovery.",
        module="whatif.recovery",
        model="RecoveryQuestion",
        function="recovery",
    ),
    WhatIfQuestion(
        path="/whatif/smds",
        title="SMDS job",
        about="IDCAMS and CSQJUFMT statements for every shared message data set, queue manager by queue manager, with "
        "DSGROUP checked.",
        docs="how-to/smds-job",
        command="cfplan whatif smds-job PLAN",
        pages="smds_pages",
        verb="smds-job",
        help="Create the job that defines and formats the shared message data sets.",
        module="texts.smds_job",
        model="SmdsJobQuestion",
    ),
    WhatIfQuestion(
        path="filling",
        title="Filling up",
        about="One outage over time: both pools of a structure, offload rules, thresholds, and when puts fail with 2192.",
        docs="how-to/filling-up",
        command="cfplan whatif filling PLAN --structure S",
        pages="filling_pages",
        verb="filling",
        help="Simulate one outage of a structure: its events over time, and how long the structure lasts.",
        module="whatif.filling_up",
        model="Outage",
        function="fill_up",
        is_of_structure=True,
    ),
    WhatIfQuestion(
        path="survival",
        title="Surviving an outage",
        about="The chance that a structure survives an outage of N minutes on a random day of the next quarter, from its "
        "measured puts, with offload and without.",
        docs="how-to/surviving-an-outage",
        command="cfplan whatif survival PLAN --structure S --minutes N",
        pages="survival_pages",
        verb="survival",
        help="Calculate the probability that a structure survives an outage, from its measured usage.",
        module="whatif.survival",
        model="SurvivalQuestion",
        is_of_structure=True,
    ),
    WhatIfQuestion(
        path="thresholds",
        title="Offload thresholds",
        about="Three offload rules that do not act in normal running, keep a reserve and hold the backlog.",
        docs="how-to/choosing-thresholds",
        command="cfplan whatif thresholds PLAN --structure S",
        pages="threshold_pages",
        verb="thresholds",
        help="Recommend three offload thresholds for a structure, with explanations and a comparison.",
        module="whatif.thresholds",
        model="ThresholdQuestion",
        function="advise",
        is_of_structure=True,
    ),
)
