/** Checks documents of requests and of trusted manifests. */
import {
  type ASTNode,
  type ASTVisitor,
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getOperationAST,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type SelectionSetNode,
  SingleFieldSubscriptionsRule,
  type Source,
  specifiedRules,
  typeFromAST,
  type ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql'
import { textProblem } from '../../shared/json-input.ts'
import { answerLimits, createCostOf } from './document-cost.ts'
import {
  assertDocumentFits,
  documentLimits,
  documentRefusal,
  type Fragments,
  fragmentsOf,
  isIntrospection,
  withoutSubscriptionTypename,
} from './document-limits.ts'

/** Factor by which introspection may exceed the full introspection query. */
const MARGIN = 1.5

const everything = () =>
  parse(
    getIntrospectionQuery({
      schemaDescription: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      inputValueDeprecation: true,
      oneOf: true,
    }),
  )

/**
 * Returns the fields of a selection, including fragments. The document is valid, so fragments exist and are not
 * recursive.
 */
function* fieldsOf({ selections }: SelectionSetNode, fragments: Fragments): Generator<FieldNode> {
  for (const node of selections as readonly SelectionNode[]) {
    if (node.kind === Kind.FIELD) yield node
    else {
      const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
      if (inner) yield* fieldsOf(inner.selectionSet, fragments)
    }
  }
}

/** Returns the introspection fields of an operation. */
function introspectionsOf(document: DocumentNode, { selectionSet }: OperationDefinitionNode): FieldNode[] {
  return [...fieldsOf(selectionSet, fragmentsOf(document))].filter(isIntrospection)
}

/** Returns the number of schema values that these root fields return. Stops counting above `limit`. */
function countValues(schema: GraphQLSchema, document: DocumentNode, fields: FieldNode[], limit: number): number {
  const fragments = fragmentsOf(document)
  let count = 0

  /** Returns the type that `__type` names, or all types if the name is a variable. */
  function typesNamed({ arguments: given = [] }: FieldNode): readonly unknown[] {
    const name = given[0]?.value
    if (name?.kind !== Kind.STRING) return Object.values(schema.getTypeMap())
    return [schema.getType(name.value) ?? null]
  }

  function valuesOf(node: FieldNode, parent: GraphQLObjectType, sources: readonly unknown[]): readonly unknown[] {
    if (node.name.value === '__type') return typesNamed(node)
    const resolve = schema.getField(parent, node.name.value)?.resolve
    if (!resolve) return []
    // The resolvers of introspection read only these fields of `info`.
    const info = { schema, parentType: parent } as never
    return sources.flatMap((source) => resolve(source, { includeDeprecated: true }, undefined, info))
  }

  function visit(node: FieldNode, parent: GraphQLObjectType, sources: readonly unknown[]) {
    if (count > limit) return
    const values = valuesOf(node, parent, sources)
    count += Math.max(values.length, sources.length)
    const type = schema.getField(parent, node.name.value)?.type
    const named = type && getNamedType(type)
    if (!node.selectionSet || !isObjectType(named)) return
    const objects = values.filter((value) => value !== null && value !== undefined)
    for (const inner of fieldsOf(node.selectionSet, fragments)) visit(inner, named, objects)
  }

  for (const node of fields) visit(node, schema.getQueryType()!, [null])
  return count
}

/** Creates a check of valid documents. It throws a GraphQLError if an operation requests too much of the schema. */
export function createIntrospectionCheck(schema: GraphQLSchema) {
  const refused = new WeakMap<OperationDefinitionNode, boolean>()
  let limit: number | undefined

  function getLimit(): number {
    if (limit === undefined) {
      const document = everything()
      const fields = introspectionsOf(document, getOperationAST(document)!)
      limit = Math.ceil(MARGIN * countValues(schema, document, fields, Number.POSITIVE_INFINITY))
    }
    return limit
  }

  function asksTooMuch(document: DocumentNode, operation: OperationDefinitionNode): boolean {
    const fields = introspectionsOf(document, operation)
    return fields.length > 0 && countValues(schema, document, fields, getLimit()) > getLimit()
  }

  return (document: DocumentNode, operation: OperationDefinitionNode): void => {
    let isRefused = refused.get(operation)
    if (isRefused === undefined) {
      isRefused = asksTooMuch(document, operation)
      refused.set(operation, isRefused)
    }
    if (isRefused) throw documentRefusal(`The document requests more than ${getLimit()} values of the schema.`)
  }
}

const MAX_ERRORS = 8

/**
 * Rejects `__schema`, and all fields of `__type` except the name. The name is allowed because validation errors about
 * fragments also show whether a type exists.
 */
function NoIntrospectionRule(context: ValidationContext): ASTVisitor {
  const refuse = (message: string) => context.reportError(new GraphQLError(message))
  return {
    Field({ name, selectionSet }) {
      if (name.value === '__schema') refuse('Introspection is disabled.')
      if (name.value !== '__type') return
      const isName = (node: { kind: string; name?: { value: string } | undefined }) =>
        node.kind === 'Field' && (node.name?.value === 'name' || node.name?.value === '__typename')
      if (!selectionSet?.selections.every(isName))
        refuse('Introspection is disabled, except for `__typename` and the name of a type.')
    },
  }
}

type Variables = Readonly<Record<string, unknown>>

/** Checks of a document, in their order. */
export interface DocumentChecks {
  /** Throws a GraphQLError for invalid syntax, and for a document that exceeds the limits. */
  parse(source: string | Source): DocumentNode
  /** Validation rules in addition to those of the specification. */
  rules: readonly ValidationRule[]
  /** Validates a document like graphql-js, but reports few errors. */
  validate: typeof validate
  /**
   * Returns the maximum response size, in bytes. Throws a GraphQLError or VALIDATION_FAILED if the operation requests
   * too much.
   */
  measure(document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): number
}

/** Creates the checks for a schema. `introspection`: true if introspection is allowed. */
export function createDocumentChecks(schema: GraphQLSchema, introspection: boolean): DocumentChecks {
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

  return {
    parse(source) {
      const document = parse(source, { maxTokens: documentLimits.tokens })
      assertDocumentFits(document)
      return document
    },
    rules: introspection ? [ValidTextRule] : [NoIntrospectionRule, ValidTextRule],
    validate(checked, document, rules = specifiedRules) {
      const options = { maxErrors: MAX_ERRORS, hideSuggestions: !introspection }
      const atSubscriptionRoot = withoutSubscriptionTypename(document, checked.getSubscriptionType()?.name)
      if (atSubscriptionRoot === document) return validate(checked, document, rules, options)
      const others = rules.filter((rule) => rule !== SingleFieldSubscriptionsRule)
      const errors = validate(checked, document, others, options)
      return errors.length > 0 ? errors : validate(checked, atSubscriptionRoot, [SingleFieldSubscriptionsRule], options)
    },
    measure(document, operation, variables) {
      assertNames(operation, variables)
      assertIntrospectionFits(document, operation)
      const { values, bytes } = costOf(document, operation, variables)
      if (values > answerLimits.values) {
        throw documentRefusal(`The response may contain ${values} values. The maximum is ${answerLimits.values}.`)
      }
      if (bytes > answerLimits.bytes) {
        throw documentRefusal(
          `The response may have ${bytes} bytes. The maximum is ${answerLimits.bytes}. Request smaller pages or fewer long texts.`,
        )
      }
      return bytes
    },
  }
}

/** Throws a GraphQLError for the first unknown or missing field. */
function assertFieldNames(value: unknown, declared: GraphQLInputType, variable: string): void {
  const type = isNonNullType(declared) ? declared.ofType : declared
  if (isListType(type)) {
    for (const item of Array.isArray(value) ? value : [value]) assertFieldNames(item, type.ofType, variable)
    return
  }
  if (!isInputObjectType(type) || typeof value !== 'object' || value === null || Array.isArray(value)) return
  const fields = type.getFields()
  for (const [name, item] of Object.entries(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field)
      throw documentRefusal(`Variable "$${variable}": field "${name.slice(0, 100)}" is not defined by type "${type}".`)
    assertFieldNames(item, field.type, variable)
  }
  for (const field of Object.values(fields)) {
    if (isRequiredInputField(field) && !Object.hasOwn(value, field.name)) {
      throw documentRefusal(`Variable "$${variable}": field "${field.name}" of type "${type}" is required.`)
    }
  }
}

/**
 * Returns the check of the field names in an operation's variables, which throws a GraphQLError. The executor would
 * repeat the whole object for each wrong name: a body of 1 MB would cause a response of 90 MB.
 */
function createNameCheck(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode) {
  const objects = variableDefinitions.flatMap(({ variable, type: node }) => {
    const type = typeFromAST(schema, node)
    return isInputType(type) && isInputObjectType(getNamedType(type)) ? [{ name: variable.name.value, type }] : []
  })
  return (variables: Readonly<Record<string, unknown>>): void => {
    for (const { name, type } of objects)
      if (Object.hasOwn(variables, name)) assertFieldNames(variables[name], type, name)
  }
}

const isNamed = (node: ASTNode | readonly ASTNode[]) =>
  'kind' in node &&
  (node.kind === Kind.OBJECT_FIELD || node.kind === Kind.ARGUMENT || node.kind === Kind.VARIABLE_DEFINITION)

/** Applies the rules for texts in variables to texts in the document. */
function ValidTextRule(context: ValidationContext): ASTVisitor {
  return {
    StringValue(node, _key, parent, _path, ancestors) {
      const problem = textProblem(node.value)
      if (!problem) return
      const holder = [...ancestors, parent!].findLast(isNamed) as { name?: { value: string } } | undefined
      context.reportError(
        new GraphQLError(`${holder?.name ? `${holder.name.value}: ` : ''}${problem}`, { nodes: node }),
      )
    },
  }
}
