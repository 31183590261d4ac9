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

/** Progress of work that begins now, of which `what` is done: "registered". */
export function createProgress(what: string): Progress {
  const { stderr } = terminal()
  const startedAt = performance.now()
  // Where nobody looks, work that is soon done is told of once.
  let toldAt = stderr.isTTY ? -Infinity : startedAt
  let last = ''

  const pace = (done: number, total: number) => {
    const seconds = (performance.now() - startedAt) / 1_000
    const rate = done / Math.max(seconds, 0.001)
    if (done === 0) return ''
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

/** Progress of work that is done in steps, each with a bar of its own. */
export interface Steps {
  /** Carries out a step of `total` items, which tells how many are done. */
  step<T>(what: string, total: number, work: (tell: (done: number) => void) => Promise<T>): Promise<T>
  /** Says a sentence, above the bar of the step that is under way. */
  say(text: string): void
}

/** Steps one after the other. */
export function createSteps(): Steps {
  let progress: Progress | undefined
  return {
    async step(what, total, work) {
      const own = createProgress(what)
      progress = own
      try {
        return await work((done) => own.tell(done, total))
      } finally {
        own.end()
        progress = undefined
      }
    },
    say: (text) => (progress ? progress.say(text) : say(text)),
  }
}
