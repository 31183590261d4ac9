/** How far long work is: a bar with rate and time left where somebody looks, a line now and then where nobody does. */
import { say } from './output.ts'
import { terminal } from './terminal.ts'

const BAR_WIDTH = 24
/** Milliseconds between two lines. */
const BAR_EVERY_MS = 100
const LINE_EVERY_MS = 10_000

/** Told how far the work is. */
export interface Progress {
  /** `total` may grow. */
  tell(done: number, total: number): void
  /** Says a sentence above the bar. */
  say(text: string): void
  /** Leaves the last line standing. */
  end(): void
}

const clock = (seconds: number) => {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)]
  const two = (part: number) => String(part).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

/** Progress of work of which `what` was done: "registered". What was done before is not counted into the rate. */
export function createProgress(what: string, before = 0): Progress {
  const { stderr } = terminal()
  const startedAt = performance.now()
  let toldAt = -Infinity
  let last = ''

  const pace = (done: number, total: number) => {
    const seconds = (performance.now() - startedAt) / 1_000
    const rate = (done - before) / Math.max(seconds, 0.001)
    if (done === before) return ''
    const left = done < total ? `, ${clock((total - done) / rate)} left` : ` in ${clock(seconds)}`
    return `, ${rate.toFixed(1)}/s${left}`
  }
  const bar = (done: number, total: number) => {
    const filled = total === 0 ? BAR_WIDTH : Math.floor((done / total) * BAR_WIDTH)
    return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] `
  }
  const draw = (line: string) => stderr.write(`\r${line}\u001B[K`)

  return {
    tell(done, total) {
      const isDue = performance.now() - toldAt > (stderr.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS)
      if (!isDue && done < total) return
      toldAt = performance.now()
      const line = `${done} of ${total} ${what}${pace(done, total)}`
      if (!stderr.isTTY) return say(line)
      last = (bar(done, total) + line).slice(0, (stderr.columns ?? Infinity) - 1)
      draw(last)
    },
    say(text) {
      if (last) draw('')
      say(text)
      if (last) draw(last)
    },
    end() {
      if (last) say('')
      last = ''
    },
  }
}
