/** Detects growing resource use of a process, by slopes per minute that tolerate outliers. */

export interface Sample {
  /** Time in milliseconds. */
  at: number
  value: number
}

const median = (values: readonly number[]) => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const MINUTE = 60_000

/** Returns the growth per minute. It is the median of the slopes between all pairs of windows, by their minima (Theil–Sen estimator). */
export function slopeOf(samples: readonly Sample[], windows = 10): number {
  const [begin, end] = [samples[0]!.at, samples.at(-1)!.at]
  const width = (end - begin) / windows
  const points = Array.from({ length: windows }, (_, index) => {
    const own = samples.filter(({ at }) => Math.min(Math.floor((at - begin) / width), windows - 1) === index)
    return { at: begin + (index + 0.5) * width, value: Math.min(...own.map(({ value }) => value)) }
  }).filter(({ value }) => Number.isFinite(value))
  const slopes = points.flatMap((from, index) =>
    points.slice(index + 1).map((to) => ((to.value - from.value) / (to.at - from.at)) * MINUTE),
  )
  return median(slopes)
}
