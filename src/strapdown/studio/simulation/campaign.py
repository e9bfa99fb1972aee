"""The campaign whose folder the studio was opened with: what it has found, and its runs on the stage."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.studio import messages as m
from strapdown.studio.stage.live_stage import LiveStage
from strapdown.studio.stage.replay_stage import ReplayStage

_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_MOST_CELLS = 200  # in the page
NO_CAMPAIGN = "no campaign is open; start the studio with its folder: strapdown studio DIR"


class CampaignFolder:
    """folder: None: there is no campaign. work: for unpacked archives and logs. history_s: of a run that is opened."""

    def __init__(self, folder: Path | None, work: Path, history_s: float) -> None:
        self._folder, self._work, self._history_s = folder, work, history_s

    def state(self, figure: str | None) -> m.CampaignState:
        """All numbers of the view, of the figure that is looked at."""
        from strapdown.campaigns.results.cells import Results, shown_value
        from strapdown.campaigns.results.comparison import failures, worst_figure, worst_runs
        from strapdown.campaigns.results.summary import effect_rows, effects, mean_text

        if self._folder is None:
            raise InputError(NO_CAMPAIGN)
        results = Results(self._folder)
        chosen = results.figure(figure if figure in results.figures else None) if results.figures else None
        note, found = "", []
        if chosen is not None:
            try:
                _, rows = effect_rows(results, chosen)
                sizes = [effect.first for effect in effects(results, chosen)]
                found = [
                    m.CampaignEffect(factor=f, measure=measure, value=size, text=value, total=total)
                    for (f, measure, value, total), size in zip(rows, sizes, strict=True)
                ]
            except InputError as error:
                note = str(error)
        if len(results.cells) > _MOST_CELLS:
            note = f"the first {_MOST_CELLS} of {len(results.cells)} cells are shown; campaign show has them all"
        cells = []
        for i, cell in enumerate(results.cells[:_MOST_CELLS] if chosen is not None else [], start=1):
            assert chosen is not None
            one, values = results.statistic(chosen, cell), results.values(chosen, cell)
            known = all(math.isfinite(x) for x in one.interval)
            cells.append(
                m.CampaignCell(
                    row=i,
                    settings=[shown_value(cell.settings[key]) for key in results.varied],
                    runs=results.runs(cell),
                    failed=results.failed(cell),
                    text=mean_text(one),
                    mean=one.mean if math.isfinite(one.mean) else None,
                    interval=list(one.interval) if known else None,
                    quantiles=np.quantile(values, _QUANTILES).tolist() if len(values) else [],
                )
            )
        status = results.dataset.status()
        running = bool(status.get("running")) and results.dataset.is_locked()
        worst = [] if chosen is None else worst_runs(results, chosen, 10)
        names = {cell.name: results.shown(cell) for cell in results.cells}
        return m.CampaignState(
            title=results.plan.title,
            base=results.plan.kind,
            folder=self._folder.name,
            running=running,
            done=len(results.table),
            total=int(status.get("total", results.plan.runs)),
            failed=sum(count for _, count, _ in failures(results)),
            rate=status.get("rate") if running else None,
            left_s=status.get("left_s") if running else None,
            figures=list(results.figures),
            figure=chosen,
            flag=chosen is not None and results.is_flag(chosen),
            keys=list(results.varied),
            cells=cells,
            effects=found,
            note=note,
            failures=[m.CampaignFailure(cause=why, runs=count, key=key) for why, count, key in failures(results)],
            worst=[m.CampaignRun(key=k, settings=names[k.partition("-")[0]], value=f"{v:.4g}") for k, v in worst],
            worst_by=None if chosen is None else worst_figure(results, chosen),
            openable=results.plan.kind != "function",
        )

    def open(self, key: str) -> Any:
        """The stage of a run: a scenario runs again by its script; of others the log is replayed."""
        from strapdown.campaigns.archive import opened
        from strapdown.campaigns.bases.recording import RecordingBase
        from strapdown.campaigns.bases.rig import RigBase
        from strapdown.campaigns.bases.scenario import ScenarioBase
        from strapdown.campaigns.running.dataset import Dataset
        from strapdown.campaigns.trial import cell_of
        from strapdown.io import write

        if self._folder is None:
            raise InputError(NO_CAMPAIGN)
        work = opened(Dataset(self._folder).archive(), self._work)  # stays unpacked: a reset reads it again
        cell, number = cell_of(work.plan, key)
        key, settings, seed = cell.key(number), work.plan.settings(cell, number), work.plan.space.seed(number)
        base = work.base
        if isinstance(base, ScenarioBase):
            scenario, blocks = base.scenario(settings)
            scenario = scenario.model_copy(update={"history_s": self._history_s, "title": f"{scenario.title}: {key}"})
            return LiveStage(scenario, None, base.kinds(), seed, True, base.diagram(scenario, blocks))
        if isinstance(base, RigBase | RecordingBase):
            log = self._work / f"{key}.parquet"
            write(log, {"imu": base.full_run(settings, seed).log})
            return ReplayStage(log, key)
        raise InputError("the campaign runs a function of your own, which the studio cannot show")
