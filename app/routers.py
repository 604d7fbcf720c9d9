"""The routers of all pages, in the order of their inclusion."""

from __future__ import annotations

from fastapi import APIRouter


def page_routers() -> list[APIRouter]:
    """Return the routers of all pages."""
    from app.accounts.oidc_pages import router as oidc
    from app.accounts.pages import router as accounts
    from app.audit.actions import Action
    from app.audit.lists import PLACES
    from app.audit.pages import router as audit
    from app.clusters.decide_pages import router as cluster_decisions
    from app.clusters.explain_pages import router as waiting
    from app.clusters.load_pages import router as cluster_load
    from app.collecting.pages import router as collecting
    from app.documentation.pages import router as documentation
    from app.events.read_pages import router as read_events
    from app.events.simulate_pages import router as simulate_events
    from app.fits.levels_pages import router as levels
    from app.fits.pages import router as curves
    from app.fits.points_pages import router as sizing_points
    from app.fleet.pages import router as overview
    from app.forecasts.pages import router as forecasts
    from app.importing.pages import router as importing
    from app.nightly.pages import router as nights
    from app.notices.pages import router as notices
    from app.plans.changes_pages import place_words
    from app.plans.changing_pages import router as changing
    from app.plans.editor.pages import router as editor
    from app.plans.pages import router as plans
    from app.plans.result_pages import router as results
    from app.plans.sheet_pages import router as sheet
    from app.reference.pages import router as published
    from app.running.pages import router as running
    from app.scenarios.pages import router as scenarios
    from app.search.pages import router as search
    from app.sizing.calculator.pages import router as quick
    from app.uploads.file_pages import router as upload_files
    from app.uploads.pages import router as uploads
    from app.usage.pages import router as usage
    from app.usage.plan_pages import router as usage_plan
    from app.usage.take_over_pages import router as take_over
    from app.web.style_guide.pages import router as style
    from app.whatif.pages import router as whatif
    from app.whatif.questions import QUESTIONS
    from app.zosmf.pages import router as connections

    PLACES[Action.PLAN_SAVED] = place_words
    return [
        overview,
        quick,
        editor,
        plans,
        results,
        changing,
        scenarios,
        sheet,
        running,
        importing,
        uploads,
        upload_files,
        collecting,
        usage_plan,
        take_over,
        usage,
        curves,
        sizing_points,
        levels,
        forecasts,
        nights,
        connections,
        notices,
        simulate_events,
        read_events,
        whatif,
        *(question.router() for question in QUESTIONS),
        cluster_decisions,
        cluster_load,
        waiting,
        audit,
        search,
        published,
        documentation,
        accounts,
        oidc,
        style,
    ]
