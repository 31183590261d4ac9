/** Returns the response time that the given share (0 to 1) of all requests did not exceed, in milliseconds. */
export function percentile(all: readonly { milliseconds: number }[], share: number): number {
  const sorted = all.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}
