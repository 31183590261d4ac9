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
import type { Gate } from '../domain/ports.ts'
import { answerLimits, createCostOf, LARGE_ANSWER } from './document-cost.ts'
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

/** A refusal as what is answered; anything else is raised on. */
function asResult(error: unknown): { errors: GraphQLError[] } {
  if (error instanceof GraphQLError) return { errors: [error] }
  if (!(error instanceof DomainError)) throw error
  const { message, code, details, retryAfter } = error
  return { errors: [new GraphQLError(message, { extensions: { code, details, retryAfter } })] }
}

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
  largeAnswers,
}: {
  schema: GraphQLSchema
  introspection: boolean
  /** What answers wait for that may be large. */
  largeAnswers: Gate
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

  /** What is wrong with an operation, or how many bytes its answer may have. */
  function judge({ document, operationName, variableValues }: Carried): { errors: GraphQLError[] } | number {
    const operation = getOperationAST(document, operationName)
    if (!operation) return 0
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
      return bytes
    } catch (error) {
      return asResult(error)
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
      setValidationFn(validateDocument)
    },
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const judged = judge(args)
      if (typeof judged !== 'number') setResultAndStopExecution(judged)
      else if (judged >= LARGE_ANSWER) {
        setExecuteFn(((carried: typeof args) =>
          largeAnswers(async () => executeFn(carried)).catch(asResult)) as typeof executeFn)
      }
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const judged = judge(args)
      if (typeof judged !== 'number') setResultAndStopExecution(judged)
    },
    onResultProcess({ result }) {
      // Variables are looked at by the executor, which helps with names as validation does.
      if (introspection || Array.isArray(result) || !('errors' in result)) return
      for (const error of result.errors ?? []) error.message = error.message.replace(SUGGESTION, '')
    },
  }
}
