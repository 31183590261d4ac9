/** The time that this share of all stayed within. Milliseconds; `share` from 0 to 1. */
export function percentile(all: readonly { milliseconds: number }[], share: number): number {
  const sorted = all.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}
