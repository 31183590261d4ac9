import { type ErrorCode, errorMeanings } from '../domain/errors.ts'
import { builder } from './builder.ts'

const enumValueOf = ([code, description]: [string, string]) => [code, { description }]

/** The vocabulary of refusals as an enumeration, made from `domain/errors.ts`. */
export const ErrorCodeType = builder.enumType('ErrorCode', {
  description:
    'Why a request is refused: `extensions.code` of every error is one of these. Read the code, not the message; more may be added.',
  values: Object.fromEntries(Object.entries(errorMeanings).map(enumValueOf)) as Record<
    ErrorCode,
    { description: string }
  >,
})
