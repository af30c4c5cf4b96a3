import { useEffect, useRef, useState } from 'preact/hooks';
import type { CostRowJson } from '../../api-types.ts';
import { dollarsWith, known, number } from '../words.ts';
import { Hatch } from './pieces.tsx';

const height = 220;
const left = 64;
const bottom = 26;
const top = 12;
const usualWidth = 1_080;
/** The room of a label below the bars. */
const labelWidth = 80;

interface Given {
  readonly days: readonly CostRowJson[];
  readonly since: string;
  readonly until: string;
}

/**
 * What was paid and saved each day: a bar for what was paid, and above it, hatched, what it would have cost more as ordinary
 * calls. Days without calls have their place, too. Each bar can be pointed at, and is read out.
 */
export function DayChart({ days, since, until }: Given) {
  const [chart, width] = useWidth();
  const byDay = new Map(days.map((day) => [day.label, day]));
  const labels = daysFrom(since, until);
  const most = Math.max(0.000001, ...days.map(({ paid, saved }) => paid + saved));
  const scale = ticksOf(most);
  const full = scale.at(-1) ?? most;
  const step = (width - left) / labels.length;
  const y = (value: number) => top + (height - top - bottom) * (1 - value / full);
  const every = Math.ceil((labels.length * labelWidth) / (width - left));
  return (
    <svg
      ref={chart}
      class="chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={spoken(days)}
    >
      <defs>
        <Hatch id="saved" size={6} ground="saved-ground" line="saved-line" />
      </defs>
      {scale.map((value) => (
        <g key={value}>
          <line class="axis" x1={left} x2={width} y1={y(value)} y2={y(value)} />
          <text x={left - 8} y={y(value) + 4} text-anchor="end">
            {tickText(value, scale[1] ?? 1)}
          </text>
        </g>
      ))}
      {labels.map((label, index) => {
        const day = byDay.get(label);
        const above = day ? y(day.paid + Math.max(0, day.saved)) : 0;
        const x = left + index * step + step * 0.15;
        const wide = Math.min(step * 0.7, 46);
        const middle = x + wide / 2;
        const isLast = middle > width - labelWidth / 4;
        return (
          <g key={label}>
            {day && (
              <g>
                <title>{`${spokenDay(day)}, ${number(day.calls)} calls`}</title>
                <rect
                  fill="url(#saved)"
                  class="saved"
                  x={x}
                  width={wide}
                  y={above}
                  height={y(day.paid) - above}
                />
                <rect class="paid" x={x} width={wide} y={y(day.paid)} height={y(0) - y(day.paid)} />
              </g>
            )}
            {index % every === 0 && (
              <text
                x={isLast ? width : middle}
                y={height - 8}
                text-anchor={isLast ? 'end' : 'middle'}
              >
                {shortDay(label)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

export function Legend() {
  return (
    <p class="legend">
      <span>
        <svg viewBox="0 0 14 14" aria-hidden="true">
          <rect class="paid" width="14" height="14" />
        </svg>
        paid
      </span>
      <span>
        <svg viewBox="0 0 14 14" aria-hidden="true">
          <rect class="saved" width="13" height="13" x="0.5" y="0.5" fill="url(#saved)" />
        </svg>
        saved: what ordinary calls would have cost more
      </span>
    </p>
  );
}

function spoken(days: readonly CostRowJson[]): string {
  return `Paid and saved each day. ${days.map(spokenDay).join('; ') || 'Nothing yet.'}`;
}

function spokenDay(day: CostRowJson): string {
  return `${day.label}: paid ${known(day, day.paid)}, saved ${known(day, day.saved)}`;
}

/** The chart is drawn in the width that it has: drawn smaller, nobody could read its labels. */
function useWidth() {
  const chart = useRef<SVGSVGElement>(null);
  const [width, measure] = useState(usualWidth);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      if (entry) measure(Math.max(2 * left, Math.round(entry.contentRect.width)));
    });
    if (chart.current) watch.observe(chart.current);
    return () => watch.disconnect();
  }, []);
  return [chart, width] as const;
}

function daysFrom(since: string, until: string): string[] {
  const labels: string[] = [];
  for (let at = Date.parse(since); at <= Date.parse(until); at += 86_400_000) {
    labels.push(new Date(at).toISOString().slice(0, 10));
  }
  return labels;
}

function shortDay(label: string): string {
  const options = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const;
  return new Date(label).toLocaleDateString('en-US', options);
}

/** With as many digits as tell the values of the axis apart. */
function tickText(value: number, step: number): string {
  if (value === 0) return '$0';
  const digits = [0, 2, 3, 4, 5, 6, 7].find(
    (some) => Math.abs(step - +step.toFixed(some)) < step / 1e3,
  );
  return dollarsWith(digits ?? 8, value);
}

/** Round values from nothing up to at least the most. */
function ticksOf(most: number): number[] {
  const size = 10 ** Math.floor(Math.log10(most));
  const step = [0.25, 0.5, 1, 2.5].map((one) => one * size).find((one) => most / one <= 4) ?? size;
  const count = Math.ceil(most / step);
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}
