import type { ChatbotSettings } from './setting-fields.ts'

/** What Edit has set, chatbot by chatbot, in memory. `onChange` hears of each write, after it. */
export class Chatbots {
  readonly #settings = new Map<string, ChatbotSettings>()
  readonly #onChange: (serialNumber: string, settings: ChatbotSettings) => void

  constructor(onChange: (serialNumber: string, settings: ChatbotSettings) => void) {
    this.#onChange = onChange
  }

  /** The chatbots of which something has been set, in the order of their first Edit. */
  get serialNumbers(): string[] {
    return [...this.#settings.keys()]
  }

  /** Never changed in place: the next write puts a new object there. */
  settings(serialNumber: string): Readonly<ChatbotSettings> {
    return this.#settings.get(serialNumber) ?? {}
  }

  replace(serialNumber: string, settings: ChatbotSettings): void {
    this.#settings.set(serialNumber, settings)
    this.#onChange(serialNumber, settings)
  }
}
