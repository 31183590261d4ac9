/** The documents in the playground's tabs. A browser test runs them in order. */

import { Kind, specifiedRules } from 'graphql'
import { expect, it } from 'vitest'
import { createDocumentChecks } from '../../../src/graphql/limits/document-limits.ts'
import { tabs } from '../../../src/graphql/playground/playground.ts'
import { schema } from '../../support/full-api.ts'

const WIDTH = 50
const checks = createDocumentChecks(schema, true)

it.each(tabs)(
  'has a valid, explained document with its variables in each playground tab',
  ({ query, variables = {} }) => {
    const document = checks.parse(query)
    expect(checks.validate(schema, document, [...specifiedRules, ...checks.rules])).toEqual([])
    const [operation] = document.definitions
    const declared = operation?.kind === Kind.OPERATION_DEFINITION ? (operation.variableDefinitions ?? []) : []
    expect(Object.keys(variables)).toEqual(declared.map(({ variable }) => variable.name.value))
    expect(query).toMatch(/^# \d+\. /)
    expect(query.split('\n').filter((line) => line.length > WIDTH)).toEqual([])
  },
)
