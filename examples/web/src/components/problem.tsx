import type { ReactNode } from 'react'
import type { CombinedError } from 'urql'
import { sentenceOf } from '../api/errors.ts'

/** Says what went wrong, at once also to a screen reader. `children` may say what to do. */
export function Problem({ error, children }: { error: CombinedError | undefined; children?: ReactNode }) {
  if (!error) return null
  return (
    <div className="notice bad" role="alert">
      <p>{sentenceOf(error)}</p>
      {children}
    </div>
  )
}
