/** What one look found. */
export interface Finding {
  /** `unknown`: what it needs is not there. */
  result: 'right' | 'wrong' | 'unknown'
  /** A sentence, when it is not right. */
  finding?: string
}

/** It is as it should be. */
export const right: Finding = { result: 'right' }
/** It contradicts what it should agree with. */
export const wrong = (finding: string): Finding => ({ result: 'wrong', finding })
/** It cannot be judged. */
export const unknown = (finding: string): Finding => ({ result: 'unknown', finding })
/** Right if the condition holds, and wrong otherwise. */
export const holds = (condition: boolean, otherwise: string): Finding => (condition ? right : wrong(otherwise))
