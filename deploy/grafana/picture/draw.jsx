// Draw the panels of the dashboard with Grafana's own components, from the answers of Prometheus. Units, thresholds,
// mappings, overrides and transformations are applied by @grafana/data. Not part of this: the editor, variables that can be
// changed, tooltips, and everything that only a Grafana server does, such as reading the file.
import {
  applyFieldOverrides,
  createTheme,
  dateTime,
  EventBusSrv,
  FieldColorModeId,
  FieldConfigOptionsRegistry,
  FieldType,
  getFieldDisplayValues,
  identityOverrideProcessor,
  standardTransformers,
  standardTransformersRegistry,
  ThemeContext,
  transformDataFrame,
} from "@grafana/data";
import {
  BarGauge,
  BigValue,
  GlobalStyles,
  PanelChrome,
  PanelContextProvider,
  Table,
  TimeSeries,
  VizRepeater,
} from "@grafana/ui";
import { createRoot } from "react-dom/client";
import { firstValueFrom } from "rxjs";

const { dashboard, answers, from, to, variables } = window.answers;
const theme = createTheme({ colors: { mode: location.hash === "#dark" ? "dark" : "light" } });

// Grafana's grid: 24 columns, 30 pixels for each row and 8 between panels.
const WIDTH = 1440;
const EDGE = 16;
const CELL = 30;
const GAP = 8;
const COLUMN = (WIDTH - 2 * EDGE + GAP) / 24;

const timeRange = { from: dateTime(from * 1000), to: dateTime(to * 1000), raw: dashboard.time };

// ---- what a Grafana server registers at its start ---------------------------------------------------------------------

// Two transformers share an identifier, which the registry refuses; the dashboard uses only those listed here.
const USED = [standardTransformers.mergeTransformer, standardTransformers.organizeFieldsTransformer];
standardTransformersRegistry.setInit(() => USED.map((each) => ({ id: each.id, name: each.name, transformation: each })));

const option = (path, isCustom) => ({
  id: isCustom ? `custom.${path}` : path,
  path,
  isCustom,
  name: path,
  process: identityOverrideProcessor,
  shouldApply: () => true,
});
const registry = new FieldConfigOptionsRegistry(() => [
  ...["unit", "min", "max", "decimals", "displayName", "color", "thresholds", "mappings", "noValue", "links"].map((path) =>
    option(path, false),
  ),
  ...[
    "drawStyle", "lineWidth", "lineStyle", "fillOpacity", "showPoints", "spanNulls", "thresholdsStyle", "axisLabel", "axisSoftMax",
    "axisPlacement", "width", "align", "cellOptions", "hideFrom", "insertNulls", "lineInterpolation",
  ].map((path) => option(path, true)),
]);

// ---- answers as data frames ------------------------------------------------------------------------------------------

const filled = (text) => text.replace(/\$(\w+)/g, (found, name) => variables[name] ?? found);

const named = (legend, labels) => legend.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name) => labels[name] ?? "");

const number = (text) => (text === "NaN" ? NaN : Number(text));

function frameOfSeries(answer, { metric, value, values }) {
  const points = values ?? [value];
  const { __name__: name, ...labels } = metric;
  const config = answer.legend === "__auto" ? {} : { displayNameFromDS: named(answer.legend, metric) };
  return {
    refId: answer.ref,
    length: points.length,
    fields: [
      { name: "Time", type: FieldType.time, config: {}, values: points.map(([at]) => at * 1000) },
      { name: name ?? "Value", type: FieldType.number, config, labels, values: points.map((each) => number(each[1])) },
    ],
  };
}

function frameOfTable(answer, isOnly) {
  const rows = answer.result;
  const names = [...new Set(rows.flatMap(({ metric }) => Object.keys(metric)))].sort();
  const column = (name, type, values) => ({ name, type, config: {}, values });
  return {
    refId: answer.ref,
    length: rows.length,
    fields: [
      column("Time", FieldType.time, rows.map(({ value }) => value[0] * 1000)),
      ...names.map((name) => column(name, FieldType.string, rows.map(({ metric }) => metric[name] ?? ""))),
      column(isOnly ? "Value" : `Value #${answer.ref}`, FieldType.number, rows.map(({ value }) => number(value[1]))),
    ],
  };
}

async function framesOf(panel) {
  const own = answers.filter((each) => each.panel === panel.id);
  const frames = own.flatMap((answer) =>
    answer.format === "table"
      ? [frameOfTable(answer, own.length === 1)]
      : answer.result.map((series) => frameOfSeries(answer, series)),
  );
  const transformed = await firstValueFrom(transformDataFrame(panel.transformations ?? [], frames));
  return applyFieldOverrides({
    data: transformed,
    fieldConfig: panel.fieldConfig,
    replaceVariables: filled,
    theme,
    timeZone: dashboard.timezone,
    fieldConfigRegistry: registry,
  });
}

// ---- panels ----------------------------------------------------------------------------------------------------------

const displayed = (panel, data) =>
  getFieldDisplayValues({
    fieldConfig: panel.fieldConfig,
    reduceOptions: panel.options.reduceOptions,
    replaceVariables: filled,
    theme,
    data,
    timeZone: dashboard.timezone,
  });

function Repeated({ panel, data, width, height, children }) {
  return (
    <VizRepeater
      getValues={() => displayed(panel, data)}
      renderValue={children}
      width={width}
      height={height}
      source={data}
      autoGrid
      orientation={panel.options.orientation}
      itemSpacing={8}
    />
  );
}

const Stat = (props) => (
  <Repeated {...props}>
    {({ value, width, height, count }) => (
      <BigValue
        value={value.display}
        count={count}
        width={width}
        height={height}
        theme={theme}
        colorMode={props.panel.options.colorMode}
        graphMode={props.panel.options.graphMode}
        justifyMode={props.panel.options.justifyMode}
        textMode={props.panel.options.textMode === "auto" && count === 1 ? "value" : props.panel.options.textMode}
      />
    )}
  </Repeated>
);

const Bars = (props) => (
  <Repeated {...props}>
    {({ value, width, height, orientation }) => (
      <BarGauge
        value={value.display}
        field={value.field}
        display={value.view?.getFieldDisplayProcessor(value.colIndex)}
        width={width}
        height={height}
        orientation={orientation}
        theme={theme}
        displayMode={props.panel.options.displayMode}
        text={props.panel.options.text}
        showUnfilled={props.panel.options.showUnfilled}
        itemSpacing={8}
        lcdCellWidth={12}
      />
    )}
  </Repeated>
);

const Lines = ({ panel, data, width, height }) => (
  <TimeSeries
    frames={data}
    structureRev={1}
    timeRange={timeRange}
    timeZone={dashboard.timezone}
    width={width}
    height={height}
    legend={panel.options.legend}
    options={panel.options}
  />
);

const Rows = ({ panel, data, width, height }) => (
  <Table
    data={data[0]}
    width={width}
    height={height}
    initialSortBy={panel.options.sortBy}
    cellHeight={panel.options.cellHeight}
    noHeader={!panel.options.showHeader}
  />
);

const KINDS = { stat: Stat, bargauge: Bars, timeseries: Lines, table: Rows };

function Panel({ panel, data }) {
  const { x, y, w, h } = panel.gridPos;
  const place = { position: "absolute", left: EDGE + x * COLUMN, top: y * (CELL + GAP) };
  const width = w * COLUMN - GAP;
  const height = h * (CELL + GAP) - GAP;
  if (panel.type === "row") {
    return <div style={{ ...place, ...theme.typography.h6, lineHeight: `${height}px` }}>{filled(panel.title)}</div>;
  }
  const Kind = KINDS[panel.type];
  const isEmpty = data.every((frame) => frame.length === 0);
  return (
    <div style={place}>
      <PanelChrome title={filled(panel.title)} description={panel.description} width={width} height={height} padding={panel.type === "table" ? "md" : undefined}>
        {(innerWidth, innerHeight) =>
          isEmpty ? (
            <div style={{ height: innerHeight, display: "grid", placeItems: "center", color: theme.colors.text.secondary }}>
              {panel.fieldConfig.defaults.noValue ?? "No data"}
            </div>
          ) : (
            <Kind panel={panel} data={data} width={innerWidth} height={innerHeight} />
          )
        }
      </PanelChrome>
    </div>
  );
}

function Head() {
  const chosen = dashboard.templating.list
    .filter((each) => each.type !== "datasource")
    .map((each) => `${each.label}: ${each.current.text}`);
  return (
    <div style={{ padding: `16px ${EDGE}px 12px`, display: "flex", gap: 32, alignItems: "baseline" }}>
      <span style={theme.typography.h4}>{dashboard.title}</span>
      {chosen.map((each) => (
        <span key={each}>{each}</span>
      ))}
      <span style={{ marginLeft: "auto" }}>{`${timeRange.from.toISOString().slice(0, 10)} to ${timeRange.to.toISOString().slice(0, 10)}, UTC`}</span>
    </div>
  );
}

async function main() {
  const panels = await Promise.all(
    dashboard.panels.map(async (panel) => ({ panel, data: panel.type === "row" ? [] : await framesOf(panel) })),
  );
  const rows = Math.max(...dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  const context = { eventBus: new EventBusSrv(), eventsScope: "picture", sync: () => 0 };
  createRoot(document.getElementById("page")).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <PanelContextProvider value={context}>
        <Head />
        <div id="drawn" style={{ position: "relative", width: WIDTH, height: rows * (CELL + GAP) + GAP }}>
          {panels.map((each) => (
            <Panel key={each.panel.id} {...each} />
          ))}
        </div>
      </PanelContextProvider>
    </ThemeContext.Provider>,
  );
}

main();
