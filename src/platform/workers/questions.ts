import { unavailable } from '../../domain/errors.ts'

/** Questions to another process, until their answers come. */
export interface Questions<Answer> {
  /** `send` gets the identifier that the answer will bear. Raises UNAVAILABLE when none comes in time. */
  ask(send: (id: number) => void): Promise<Answer>
  answered(id: number, answer: Answer): void
}

/** `what`: whom nobody heard from, when an answer took longer than so many milliseconds. */
export function createQuestions<Answer>(what: string, milliseconds: number): Questions<Answer> {
  const open = new Map<number, (answer: Answer) => void>()
  let last = 0
  return {
    async ask(send) {
      last += 1
      const id = last
      const { promise, resolve, reject } = Promise.withResolvers<Answer>()
      const timer = setTimeout(() => reject(unavailable(what)), milliseconds)
      open.set(id, resolve)
      try {
        send(id)
        return await promise
      } finally {
        clearTimeout(timer)
        open.delete(id)
      }
    },
    answered: (id, answer) => open.get(id)?.(answer),
  }
}
