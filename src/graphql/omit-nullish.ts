/** An input as the domain knows it: GraphQL's optional input is null or absent, the domain's only absent. */
export type OmitNullish<Input> = { [Key in keyof Input]: Exclude<Input[Key], null> }

/** What was given of an input. */
export const omitNullish = <Input extends object>(input: Input) =>
  Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== null && value !== undefined),
  ) as OmitNullish<Input>
