// SPDX-License-Identifier: Apache-2.0
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Report } from './data/report';

export const ReportContext = createContext<Report | null>(null);

export function useReport(): Report {
    const report = useContext(ReportContext);
    if (!report) throw new Error('no report around this part of the page');
    return report;
}
