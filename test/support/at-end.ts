/** Cleanup that runs after the last test and hook of a test file. */

const endings: (() => unknown)[] = []

/** Registers a cleanup function. They run in reverse order. Use it inside tests and hooks, where Vitest ignores `afterAll`. */
export const atEnd = (work: () => unknown): void => void endings.push(work)

/** Runs all cleanup functions, even if one fails. Throws the failures. */
export async function runEndings(): Promise<void> {
  const failures: unknown[] = []
  for (let work = endings.pop(); work; work = endings.pop()) {
    try {
      await work()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures)
}
