/** Progress of a long operation. A terminal shows a bar with rate and remaining time. Otherwise, a line is printed every ten seconds. */
import { report, terminal } from './terminal.ts'

const BAR_WIDTH = 24
/** Milliseconds between two updates of the bar. */
const BAR_EVERY_MS = 100
const LINE_EVERY_MS = 10_000

export interface Progress {
  /** Updates the progress. `total` may grow. */
  update(done: number, total: number): void
  /** Prints a message above the bar. */
  report(text: string): void
  end(): void
}

const formatSeconds = (seconds: number) => {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds % 60)]
  const two = (part: number) => String(part).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

/** Starts a progress display. `verb`: past participle for the items, such as "registered". */
export function createProgress(verb: string): Progress {
  const { stderr } = terminal()
  const startedAt = performance.now()
  // Without a terminal, a short operation prints only its last line.
  let updatedAt = stderr.isTTY ? -Infinity : startedAt
  let lastLine = ''

  const formatRate = (done: number, total: number) => {
    if (done === 0) return ''
    const seconds = (performance.now() - startedAt) / 1_000
    const rate = done / Math.max(seconds, 0.001)
    const time = done < total ? `, ${formatSeconds((total - done) / rate)} left` : ` in ${formatSeconds(seconds)}`
    return `, ${rate.toFixed(1)}/s${time}`
  }
  const formatBar = (done: number, total: number) => {
    const filled = total === 0 ? BAR_WIDTH : Math.floor((done / total) * BAR_WIDTH)
    return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] `
  }
  const draw = (line: string) => stderr.write(`\r${line}\u001B[K`)

  return {
    update(done, total) {
      const isDue = performance.now() - updatedAt > (stderr.isTTY ? BAR_EVERY_MS : LINE_EVERY_MS)
      if (!isDue && done < total) return
      updatedAt = performance.now()
      const line = `${done} of ${total} ${verb}${formatRate(done, total)}`
      if (!stderr.isTTY) return report(line)
      lastLine = (formatBar(done, total) + line).slice(0, (stderr.columns ?? Infinity) - 1)
      draw(lastLine)
    },
    report(text) {
      if (lastLine) draw('')
      report(text)
      if (lastLine) draw(lastLine)
    },
    end() {
      if (lastLine) report('')
      lastLine = ''
    },
  }
}
