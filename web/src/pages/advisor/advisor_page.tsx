import { Segmented } from "antd";
import { useSearchParams } from "react-router-dom";
import { Page } from "../../components/basics";
import { useSay } from "../../i18n";
import { CardsTopic } from "./cards_topic";
import { CostTopic } from "./cost_topic";
import { OwnTopic } from "./own_topic";
import { TimeTopic } from "./time_topic";
import { VramTopic } from "./vram_topic";

const TOPICS = { vram: VramTopic, cards: CardsTopic, time: TimeTopic, cost: CostTopic, own: OwnTopic };
type Topic = keyof typeof TOPICS;

export default function AdvisorPage() {
  const say = useSay();
  const [search, setSearch] = useSearchParams();
  const asked = search.get("about") ?? "";
  const topic: Topic = asked in TOPICS ? (asked as Topic) : "vram";
  const Shown = TOPICS[topic];
  return (
    <Page title={say("advisor.title")}>
      <p className="soft">{say("advisor.note")}</p>
      <div style={{ maxWidth: "100%", overflowX: "auto" }}>
        <Segmented<Topic>
          aria-label={say("advisor.topic")}
          value={topic}
          onChange={(about) => setSearch({ about }, { replace: true })}
          options={(Object.keys(TOPICS) as Topic[]).map((each) => ({ value: each, label: say(`advisor.${each}`) }))}
        />
      </div>
      <Shown />
    </Page>
  );
}
