import { clustersetView } from './clusterset-view.ts';
import { setView } from './set-view.ts';

export const pageOfSet = {
  view: 'clusterset',
  title: 'Clusterset',
  makeView: clustersetView,
  makePanel: setView,
} as const;
