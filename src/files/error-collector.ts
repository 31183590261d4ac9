import { storageFailure } from '../shared/errors.ts'
import type { OnError } from '../shared/log.ts'

/** Tells of troubles; where nobody listens, the end raises the first of them. */
export const tellOrRaise = (listener: OnError | undefined): { onError: OnError; end(): void } => {
  const errors: unknown[] = []
  return {
    onError: listener ?? ((_, error) => errors.push(error)),
    end() {
      if (errors.length > 0) throw storageFailure(errors[0])
    },
  }
}
