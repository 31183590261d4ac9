import {
  type ASTVisitor,
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
  type Source,
  type ValidationContext,
  validate,
} from 'graphql'
import type { Plugin } from 'graphql-yoga'
import { DomainError } from '../domain/errors.ts'
import { answerLimits, createCostOf } from './document-cost.ts'
import { assertDocumentFits, documentLimits, tooMuch } from './document-limits.ts'
import { createIntrospectionCheck } from './introspection-cost.ts'
import { ValidTextRule } from './valid-text-rule.ts'
import { assertVariablesFit } from './variable-limits.ts'
import { createNameCheck } from './variable-names.ts'

const MAX_ERRORS = 8

/**
 * `__schema` tells nothing, and `__type` only whether there is a type of the name that was asked for, which every
 * error about a fragment tells, too.
 */
function NoIntrospectionRule(context: ValidationContext): ASTVisitor {
  const refuse = (message: string) => context.reportError(new GraphQLError(message))
  return {
    Field({ name, selectionSet }) {
      if (name.value === '__schema') refuse('The schema is not told here.')
      if (name.value !== '__type') return
      const isName = (node: { kind: string; name?: { value: string } | undefined }) =>
        node.kind === 'Field' && (node.name?.value === 'name' || node.name?.value === '__typename')
      if (!selectionSet?.selections.every(isName)) refuse('Only the name of a type is told here.')
    },
  }
}

function parseDocument(source: string | Source): DocumentNode {
  const document = parse(source, { maxTokens: documentLimits.tokens })
  assertDocumentFits(document)
  return document
}

const SUGGESTION = / Did you mean [^?]*\?/g

type Variables = Readonly<Record<string, unknown>>

/** What is carried out, as the hooks tell it. */
interface Carried {
  document: DocumentNode
  operationName?: string | null
  variableValues?: Variables | null
}

/**
 * Refuses what asks too much. Each document is looked at once, when it is parsed and validated, and Yoga keeps the outcome;
 * a request with a known document pays for its variables only.
 */
export function useDocumentLimits({
  schema,
  introspection,
}: {
  schema: GraphQLSchema
  introspection: boolean
}): Plugin {
  const costOf = createCostOf(schema)
  const assertIntrospectionFits = createIntrospectionCheck(schema)

  const nameChecks = new WeakMap<OperationDefinitionNode, ReturnType<typeof createNameCheck>>()

  function assertNames(operation: OperationDefinitionNode, variables: Variables) {
    let check = nameChecks.get(operation)
    if (!check) {
      check = createNameCheck(schema, operation)
      nameChecks.set(operation, check)
    }
    check(variables)
  }

  function refusalOf({ document, operationName, variableValues }: Carried): { errors: GraphQLError[] } | undefined {
    const operation = getOperationAST(document, operationName)
    if (!operation) return undefined
    try {
      assertNames(operation, variableValues ?? {})
      assertIntrospectionFits(document, operation)
      const { values, bytes } = costOf(document, operation, variableValues)
      if (values > answerLimits.values) {
        throw tooMuch(`The answer may hold ${values} values; at most ${answerLimits.values} can be asked for at once.`)
      }
      if (bytes > answerLimits.bytes) {
        throw tooMuch(
          `The answer may hold ${bytes} bytes; at most ${answerLimits.bytes} can be asked for at once. Ask for smaller pages, or for fewer long texts.`,
        )
      }
      return undefined
    } catch (error) {
      if (error instanceof GraphQLError) return { errors: [error] }
      if (error instanceof DomainError) {
        const { message, code, details } = error
        return { errors: [new GraphQLError(message, { extensions: { code, details } })] }
      }
      throw error
    }
  }

  const validateDocument: typeof validate = (checked, document, rules) =>
    validate(checked, document, rules, { maxErrors: MAX_ERRORS, hideSuggestions: !introspection })

  return {
    onParams({ params }) {
      // Before it becomes the key of a cache.
      if (typeof params.query === 'string' && params.query.length > documentLimits.characters) {
        throw tooMuch(`The document has more than ${documentLimits.characters} characters.`)
      }
      assertVariablesFit(params.variables)
    },
    onParse({ setParseFn }) {
      setParseFn(parseDocument)
    },
    onValidate({ addValidationRule, setValidationFn }) {
      if (!introspection) addValidationRule(NoIntrospectionRule)
      addValidationRule(ValidTextRule)
      setValidationFn(validateDocument as never)
    },
    onExecute({ args, setResultAndStopExecution }) {
      const refused = refusalOf(args)
      if (refused) setResultAndStopExecution(refused)
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const refused = refusalOf(args)
      if (refused) setResultAndStopExecution(refused)
    },
    onResultProcess({ result }) {
      // Variables are looked at by the executor, which helps with names as validation does.
      if (introspection || Array.isArray(result) || !('errors' in result)) return
      for (const error of result.errors ?? []) error.message = error.message.replace(SUGGESTION, '')
    },
  }
}
