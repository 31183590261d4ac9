/** What is done when a test file's last test and hook are over. */

const endings: (() => unknown)[] = []

/** To be done then, last first. Tests and hooks may ask for it, too: of an `afterAll` that they call Vitest does not hear. */
export const atEnd = (work: () => unknown): void => void endings.push(work)

/** Does it all, whatever fails. Raises what failed. */
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
