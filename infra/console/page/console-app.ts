/** The console's page: four views, redrawn each second in a local run. */
import type { DashboardsAnswer, FleetRow } from '../api-types.ts';
import { ask, Refused } from './ask.ts';
import { dashboardView } from './charts/dashboard.ts';
import { parseRange, rangeControls, rangeQuery, type TimeRange } from './charts/time-range.ts';
import { clockText, switchZone, zoneName } from './charts/time-zone.ts';
import { clusterField } from './cluster-field.ts';
import { commandLine, commandText } from './command-line.ts';
import { h, setText } from './dom.ts';
import { findBox } from './find-box.ts';
import { hashOf, parseRoute, type Route } from './route.ts';
import { fleetTable } from './views/fleet-table.ts';
import { servicesView } from './views/services-view.ts';
import { unknownCluster } from './views/unknown-cluster.ts';
import { verdictView } from './views/verdict-view.ts';
import { pageParts } from './wing.ts';

interface View {
  readonly element: HTMLElement;
  refresh(): Promise<void>;
  destroy(): void;
}

const content = document.getElementById('content') as HTMLElement;
const bar = document.querySelector('.bar') as HTMLElement;
const pause = document.getElementById('pause') as HTMLElement;
const zone = document.getElementById('zone') as HTMLElement;
const live = document.getElementById('live') as HTMLElement;
const views = document.getElementById('views') as HTMLElement;
/** Interval of requests until the first answer, which has the API's own interval. */
const untilKnownMs = 1_000;
/** Stays while the user moves between the views with charts. */
let range: TimeRange = { minutes: 5, untilMs: undefined };
let isPaused = false;
let known: DashboardsAnswer | undefined;
let shown: View | undefined;
/** When the view that is shown was last answered, ms since the epoch. */
let answeredMs: number | undefined;
/** Number of refreshes so far. An answer that was overtaken by a later one says nothing of the state. */
let refreshes = 0;

function fleetView(answer: DashboardsAnswer): View {
  const verdict = verdictView();
  const table = fleetTable();
  const dashboard = dashboardView(
    answer.dashboards.find((d) => d.id === 'fleet') as DashboardsAnswer['dashboards'][number],
    undefined,
  );
  return {
    element: h(
      'div',
      {},
      heading('Fleet', ranges(answer)),
      verdict.element,
      elsewhere(answer, 'fleet'),
      table.element,
      dashboard.element,
    ),
    refresh: async () => {
      const [rows] = await Promise.all([table.refresh(), dashboard.refresh(range)]);
      verdict.show(rows, true);
    },
    destroy: dashboard.destroy,
  };
}

function clusterView(answer: DashboardsAnswer, chosen: string | undefined): View {
  const { dashboards, clusters } = answer;
  const cluster = chosen ?? clusters[0] ?? '';
  const verdict = verdictView();
  const dashboard = dashboardView(
    dashboards.find((d) => d.id === 'cluster') as DashboardsAnswer['dashboards'][number],
    cluster,
  );
  const field = clusterField('cluster', cluster, clusters);
  return {
    element: h(
      'div',
      {},
      heading('Cluster', field, ranges(answer)),
      verdict.element,
      elsewhere(answer, 'cluster'),
      dashboard.element,
    ),
    refresh: async () => {
      const [rows] = await Promise.all([ask<readonly FleetRow[]>('/api/fleet'), dashboard.refresh(range)]);
      verdict.show(
        rows.filter(({ id }) => id === cluster),
        false,
      );
    },
    destroy: dashboard.destroy,
  };
}

/** The same in other places: the command, and in CloudWatch the dashboard and the alarms. */
function elsewhere({ deployed }: DashboardsAnswer, dashboard: string): HTMLElement {
  const link = (text: string, href: string | undefined) =>
    href && h('a', { href, target: '_blank', rel: 'noreferrer' }, text);
  return h(
    'div',
    { class: 'elsewhere' },
    commandLine(commandText(deployed?.table, 'cluster', 'list')),
    link('The dashboard in CloudWatch', deployed?.cloudWatch[dashboard]),
    link('Alarms in CloudWatch', deployed?.alarms),
  );
}

const heading = (title: string, ...controls: readonly HTMLElement[]): HTMLElement =>
  h('div', { class: 'heading' }, h('h1', {}, title), ...controls);

function ranges({ minutes }: DashboardsAnswer): HTMLElement {
  return rangeControls(minutes, range, (next) => {
    range = next;
    writeRange();
    void refresh();
  });
}

/** A change of location.hash would draw the whole page again. */
function writeRange(): void {
  const path = location.hash.replace(/\?.*$/, '') || hashOf('fleet');
  history.replaceState(null, '', `${path}${rangeQuery(range, known?.minutes[0] ?? 5)}`);
}

function navigate(): void {
  if (!known) return;
  const route = parseRoute(location.hash);
  range = parseRange(location.hash, known.minutes) ?? range;
  if (route.view === 'fleet' || route.view === 'cluster') writeRange();
  shown?.destroy();
  shown = viewOf(route, known);
  answeredMs = undefined;
  content.replaceChildren(shown.element);
  const cluster = 'cluster' in route ? route.cluster : undefined;
  const links = [
    ['Fleet', hashOf('fleet'), 'fleet'],
    ['Cluster', hashOf('cluster', cluster), 'cluster'],
    ['Services', hashOf('services', cluster), 'services'],
    ...pageParts.map(({ title, view }) => [title, hashOf(view), view] as const),
  ] as const;
  views.replaceChildren(
    ...links.map(([text, href, view]) =>
      h('li', {}, h('a', { href, 'aria-current': view === route.view ? 'page' : undefined }, text)),
    ),
  );
  const subject =
    route.view === 'services' && route.service ? `${route.namespace}/${route.service}` : cluster;
  document.title = [subject, links.find(([, , view]) => view === route.view)?.[0], 'Fleet endpoints']
    .filter(Boolean)
    .join(' · ');
  void refresh();
}

function viewOf(route: Route, answer: DashboardsAnswer): View {
  if (route.view === 'fleet') return fleetView(answer);
  if (route.view === 'unknown') return unknownPage();
  if (
    (route.view === 'cluster' || route.view === 'services') &&
    route.cluster !== undefined &&
    !answer.clusters.includes(route.cluster)
  ) {
    const view = unknownCluster(route.view, route.cluster, answer.clusters, (newer) => {
      known = newer;
      navigate();
    });
    return {
      ...view,
      element: h('div', {}, heading(route.view === 'cluster' ? 'Cluster' : 'Services'), view.element),
    };
  }
  if (route.view === 'cluster') return clusterView(answer, route.cluster);
  if (route.view === 'clusterset') {
    const [part] = pageParts;
    if (!part) return fleetView(answer);
    const view = part.makeView();
    return { ...view, element: h('div', {}, heading(part.title), view.element) };
  }
  const cluster = route.cluster ?? answer.clusters[0] ?? '';
  const view = servicesView(cluster, answer, route);
  return { ...view, element: h('div', {}, heading('Services'), view.element) };
}

function unknownPage(): View {
  const fleet = h('a', { href: hashOf('fleet') }, 'Fleet');
  const text = h('p', { role: 'status' }, `The console has no page ${location.hash}. Go to `, fleet, '.');
  return {
    element: h('div', {}, heading('Unknown page'), h('section', { class: 'panel unknown' }, text)),
    refresh: async () => {},
    destroy() {},
  };
}

async function refresh(): Promise<void> {
  const view = shown;
  const turn = ++refreshes;
  const isOvertaken = (): boolean => view !== shown || turn !== refreshes;
  try {
    await view?.refresh();
    if (isOvertaken()) return;
    answeredMs = Date.now();
    delete content.dataset['asOf'];
    say(isPaused ? 'paused' : 'live', `${isPaused ? 'paused' : 'live'}, ${clockText(answeredMs)}`);
  } catch (e) {
    if (isOvertaken()) return;
    const problem = e instanceof Refused ? e.message : 'no answer: is the console still running?';
    if (answeredMs === undefined) return say('stale', problem);
    // What is drawn may no longer be true: it loses its colours.
    const asOf = `as of ${clockText(answeredMs)}`;
    content.dataset['asOf'] = asOf;
    say('stale', `${asOf}: ${problem}`);
  }
}

/** Updates the status. Screen readers announce a change of the state, but not each second. */
function say(state: 'live' | 'paused' | 'stale', text: string): void {
  if (state !== live.dataset['state'] || state === 'stale')
    live.replaceChildren(state === 'stale' ? text : h('time', { 'aria-label': state }));
  live.dataset['state'] = state;
  const time = live.querySelector('time');
  if (time) setText(time, text);
}

async function start(): Promise<void> {
  for (;;) {
    try {
      const answer = await ask<DashboardsAnswer>('/api/dashboards');
      if (answer.clusters.length > 0) {
        known = answer;
        range = { minutes: answer.minutes[0] ?? 5, untilMs: undefined };
        break;
      }
      say('stale', 'starting');
    } catch (e) {
      say('stale', e instanceof Refused ? e.message : 'no answer');
    }
    await new Promise((resolve) => setTimeout(resolve, untilKnownMs));
  }
  navigate();
  let busy = false;
  setInterval(async () => {
    if (document.hidden || busy || isPaused) return;
    busy = true;
    await refresh();
    busy = false;
  }, known.refreshSeconds * 1_000);
}

pause.addEventListener('click', () => {
  isPaused = !isPaused;
  pause.setAttribute('aria-pressed', String(isPaused));
  void refresh();
});
function showZone(): void {
  setText(zone, zoneName());
  zone.setAttribute('aria-label', `Time zone: ${zoneName()}`);
}
showZone();
zone.addEventListener('click', () => {
  switchZone();
  showZone();
  navigate();
});
bar.querySelector('.follow')?.before(findBox());
addEventListener('hashchange', () => {
  navigate();
  // Keyboard focus moves to the top of the new view, as with a link to another page.
  content.focus({ preventScroll: false });
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', navigate);
void start();
