"""The pages people see. Each folder is a feature: its routes, its contexts and what they need."""

from __future__ import annotations

from fastapi import APIRouter


def routers() -> list[APIRouter]:
    """Every router of the pages, to be mounted at the top of the application."""
    from app.pages.cluster.decide import router as cluster_decisions
    from app.pages.cluster.explain import router as waiting
    from app.pages.cluster.load import router as cluster_load
    from app.pages.curves.levels import router as levels
    from app.pages.curves.routes import router as curves
    from app.pages.documentation.routes import router as documentation
    from app.pages.events.reading import router as read_events
    from app.pages.events.simulate import router as simulate_events
    from app.pages.forecasts.routes import router as forecasts
    from app.pages.night.routes import router as nights
    from app.pages.plans.changing import router as changing
    from app.pages.plans.editor import router as editor
    from app.pages.plans.routes import router as plans
    from app.pages.published.routes import router as published
    from app.pages.quick.routes import router as quick
    from app.pages.running.routes import router as running
    from app.pages.scenarios.routes import router as scenarios
    from app.pages.sheet.routes import router as sheet
    from app.pages.style.routes import router as style
    from app.pages.uploads.routes import router as uploads
    from app.pages.usage.plan import router as usage_plan
    from app.pages.usage.routes import router as usage
    from app.pages.usage.take_over import router as take_over
    from app.pages.whatif.filling import router as filling
    from app.pages.whatif.growth import router as whatif_growth
    from app.pages.whatif.loss import router as whatif_loss
    from app.pages.whatif.recovery import router as whatif_recovery
    from app.pages.whatif.routes import router as whatif
    from app.pages.whatif.smds import router as whatif_smds
    from app.pages.whatif.thresholds import router as thresholds

    return [
        quick,
        editor,
        plans,
        changing,
        scenarios,
        sheet,
        running,
        uploads,
        usage_plan,
        take_over,
        usage,
        curves,
        levels,
        forecasts,
        nights,
        simulate_events,
        read_events,
        whatif,
        whatif_loss,
        whatif_growth,
        whatif_recovery,
        whatif_smds,
        filling,
        thresholds,
        cluster_decisions,
        cluster_load,
        waiting,
        published,
        documentation,
        style,
    ]
