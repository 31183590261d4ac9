import { type DocumentNode, GraphQLError, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { Context } from '../../services-context.ts'
import { DomainError } from '../../shared/errors.ts'
import type { Admission } from '../admission.ts'
import type { DocumentChecks } from '../limits/document-checks.ts'
import { LARGE_ANSWER } from '../limits/document-cost.ts'
import { documentLimits, documentRefusal } from '../limits/document-limits.ts'
import { assertVariablesFit } from '../limits/variable-limits.ts'
import { maskError } from '../mask-error.ts'

const SUGGESTION = / Did you mean [^?]*\?/g

/** A refusal as the result of what was not carried out; anything else is raised on. Yoga masks it like any other. */
function asResult(error: unknown): { errors: GraphQLError[] } {
  if (!(error instanceof DomainError)) throw error
  return { errors: [new GraphQLError(error.message, { originalError: error })] }
}

/**
 * Bytes of what a subscription tells each time. One change is told to all who follow it, whoever made it, and nobody waits for a place: 200 strangers
 * who had 440 KB told held everybody up for 5 s at each change.
 */
const MOST_TOLD = LARGE_ANSWER

const tellsTooMuch = (bytes: number) =>
  documentRefusal(
    `What is told may hold ${bytes} bytes each time; a subscription may ask for ${MOST_TOLD}. Have it tell what changed, and ask for the rest by a query.`,
  )

/** What is carried out, as the hooks tell it. */
interface Carried {
  contextValue: Context
  document: DocumentNode
  operationName?: string | null
  variableValues?: Readonly<Record<string, unknown>> | null
}

/**
 * Refuses what asks too much. Each document is looked at once, when it is parsed and validated, and Yoga keeps the outcome;
 * a request with a known document pays for its variables only.
 */
export function useDocumentLimits({
  checks,
  introspection,
  admission,
}: {
  checks: DocumentChecks
  introspection: boolean
  /** What operations wait for. */
  admission: Admission
}): Plugin<Context> {
  /** What is wrong with an operation, or how many bytes its answer may have. */
  function judge({
    contextValue,
    document,
    operationName,
    variableValues,
  }: Carried): { errors: GraphQLError[] } | number {
    const operation = getOperationAST(document, operationName)
    if (!operation) return 0
    try {
      return checks.measure(document, operation, variableValues ?? {})
    } catch (error) {
      // What stops before anything is carried out is masked by nobody else.
      return { errors: [maskError(error, contextValue.requestLog)] }
    }
  }

  return {
    onParams({ params }) {
      // Before it becomes the key of a cache.
      if (typeof params.query === 'string' && params.query.length > documentLimits.characters) {
        throw documentRefusal(`The document has more than ${documentLimits.characters} characters.`)
      }
      assertVariablesFit(params.variables)
    },
    onParse({ setParseFn }) {
      setParseFn(checks.parse)
    },
    onValidate({ addValidationRule, setValidationFn }) {
      for (const rule of checks.rules) addValidationRule(rule)
      setValidationFn(checks.validate)
    },
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const judged = judge(args)
      if (typeof judged !== 'number') setResultAndStopExecution(judged)
      else {
        const { document, operationName, contextValue } = args
        const operation = getOperationAST(document, operationName)
        if (!operation) return
        const asked = { document, operation, bytes: judged, actor: contextValue.actor }
        setExecuteFn(((carried: typeof args) =>
          admission.enter(asked, async () => executeFn(carried)).catch(asResult)) as typeof executeFn)
      }
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const judged = judge(args)
      if (typeof judged !== 'number') setResultAndStopExecution(judged)
      else if (judged > MOST_TOLD) setResultAndStopExecution({ errors: [tellsTooMuch(judged)] })
    },
    onResultProcess({ result }) {
      // Variables are looked at by the executor, which helps with names as validation does.
      if (introspection || Array.isArray(result) || !('errors' in result)) return
      for (const error of result.errors ?? []) error.message = error.message.replace(SUGGESTION, '')
    },
  }
}
