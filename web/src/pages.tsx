// SPDX-License-Identifier: Apache-2.0
// The pages of the report, in the order of the menu.

import type { ComponentType } from 'preact';
import type { Report } from './data/report';
import { Application } from './views/Application';
import { CallTree } from './views/CallTree';
import { Comparison } from './views/Comparison';
import { Experiment } from './views/Experiment';
import { Glossary } from './views/Glossary';
import { Machine } from './views/Machine';
import { Metrics } from './views/Metrics';
import { OverTime } from './views/OverTime';
import { Parallel } from './views/Parallel';
import { Roofline } from './views/Roofline';
import { Scalability } from './views/Scalability';
import { ScalingModel } from './views/ScalingModel';
import { Simulation } from './views/Simulation';
import { Stability } from './views/Stability';
import { Summary } from './views/Summary';
import { Expert, Functions, Lines, Loops } from './views/Tables';
import { Tried } from './views/Tried';
import { hasTrust, Trust } from './views/Trust';
import { Why } from './views/Why';

export interface Page {
    path: string;
    title: string;
    view: ComponentType;
    /** Left out of the menu where the report has nothing for it. */
    isThere?: (report: Report) => boolean;
}

const isMeasured = (report: Report): boolean => !report.isCode;

export const PAGES: Page[] = [
    { path: 'summary', title: 'Summary', view: Summary },
    { path: 'metrics', title: 'Global metrics', view: Metrics, isThere: isMeasured },
    { path: 'application', title: 'Application', view: Application, isThere: isMeasured },
    { path: 'functions', title: 'Functions', view: Functions },
    { path: 'loops', title: 'Loops', view: Loops },
    {
        path: 'why',
        title: 'Why',
        view: Why,
        isThere: report => report.varied().length > 0,
    },
    {
        path: 'roofline',
        title: 'Roofline',
        view: Roofline,
        isThere: report => report.doc.roofline !== null,
    },
    { path: 'lines', title: 'Lines', view: Lines, isThere: isMeasured },
    { path: 'calltree', title: 'Call tree', view: CallTree, isThere: isMeasured },
    {
        path: 'over-time',
        title: 'Over time',
        view: OverTime,
        isThere: report => report.doc.over_time !== null,
    },
    {
        path: 'parallel',
        title: 'Parallel',
        view: Parallel,
        isThere: report => report.doc.parallel !== null,
    },
    {
        path: 'simulation',
        title: 'Simulation',
        view: Simulation,
        isThere: report => Boolean(report.doc.simulated),
    },
    {
        path: 'scaling',
        title: 'Scaling model',
        view: ScalingModel,
        isThere: report => Boolean(report.doc.scaling),
    },
    {
        path: 'tried',
        title: 'Tried',
        view: Tried,
        isThere: report => report.doc.tries.length > 0,
    },
    {
        path: 'scalability',
        title: 'Scalability',
        view: Scalability,
        isThere: report => report.doc.scalability !== null,
    },
    {
        path: 'stability',
        title: 'Stability',
        view: Stability,
        isThere: report => report.doc.stability !== null,
    },
    {
        path: 'comparison',
        title: 'Comparison',
        view: Comparison,
        isThere: report => report.doc.comparison !== null,
    },
    {
        path: 'machine',
        title: 'Machine',
        view: Machine,
        isThere: report => report.rows('machine_places') !== null,
    },
    { path: 'trust', title: 'Trust', view: Trust, isThere: hasTrust },
    { path: 'expert', title: 'Expert', view: Expert },
    { path: 'experiment', title: 'Experiment', view: Experiment },
    { path: 'glossary', title: 'Glossary', view: Glossary },
];
