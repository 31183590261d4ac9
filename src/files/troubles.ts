import { storageFailure } from '../domain/errors.ts'
import type { OnTrouble } from '../domain/ports.ts'

/** Tells of troubles; where nobody listens, the end raises the first of them. */
export const tellOrRaise = (listener: OnTrouble | undefined): { onTrouble: OnTrouble; end(): void } => {
  const errors: unknown[] = []
  return {
    onTrouble: listener ?? ((_, error) => errors.push(error)),
    end() {
      if (errors.length > 0) throw storageFailure(errors[0])
    },
  }
}
