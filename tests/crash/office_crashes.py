"""The crash points of what people do in the back office and by commands, as rows. No engine here."""

from __future__ import annotations

from crash.crashes import Ending, Kill
from crash.office_cases import Action, OfficeCrash, OfficeRequest

REFUND = OfficeRequest("RF", title="refund that a second person grants", action=Action.REFUND)
TOKEN = OfficeRequest("DB", title="access token that a second person grants", action=Action.TOKEN)
RECORD = OfficeRequest("CB", title="file with two chargebacks", action=Action.RECORD)
ERASE = OfficeRequest("DB", title="erasure of a person", action=Action.ERASE)
INDEX = OfficeRequest("DB", title="payment that is indexed", action=Action.INDEX)

WAITING, GRANTED, NOTED = "approval waiting", "approval granted", "approval granted, outcome noted"
APPROVED = "RF approved `000.100.112`, executed once"
SENT_NOW, SENT_BEFORE = f"sent now, {NOTED}", f"sent before, {NOTED}"
ASKED, UNSENT = Ending(WAITING, SENT_NOW), Ending(GRANTED, SENT_NOW)
SENT = Ending(f"{APPROVED}; {GRANTED}", SENT_BEFORE)
CARRIED_OUT = Ending(f"{APPROVED}; {NOTED}", "nothing to grant")

MADE = f"{GRANTED}, 1 token"
NOT_MADE = Ending(GRANTED, f"made now, {NOTED}, 1 token")
MADE_BEFORE = Ending(f"{GRANTED}; 1 token", f"made before, {NOTED}, 1 token")

CHARGED_BACK = "CB approved `000.100.200`"
HALF = Ending(CHARGED_BACK, "1 recorded, 1 recorded before")
NONE = Ending("nothing", "2 recorded, 0 recorded before")

NAMED, LEFT = "payment names the person, index names the person", "payment erased"
ERASED = "erased: 1 payments; payment erased"
NOT_ERASED, REPEATED = (Ending(held.replace(",", ";"), ERASED) for held in (NAMED, LEFT))

BEHIND, INDEXED = "not indexed", "indexed and counted once"
COUNTED = Ending(INDEXED, "")

OFFICE_CRASHES = (
    OfficeCrash(431, REFUND, Kill("before approval decided"), (ASKED,)),
    OfficeCrash(432, REFUND, Kill("during approval decided", (WAITING, GRANTED)), (ASKED, UNSENT)),
    OfficeCrash(433, REFUND, Kill("after approval decided"), (UNSENT,)),
    OfficeCrash(434, REFUND, Kill("after follow-up started"), (SENT,)),
    OfficeCrash(435, REFUND, Kill("after follow-up request"), (SENT,)),
    OfficeCrash(436, REFUND, Kill("after follow-up completion"), (SENT,)),
    OfficeCrash(437, REFUND, Kill("after approval carried out"), (CARRIED_OUT,)),
    OfficeCrash(438, TOKEN, Kill("during merchant configuration", (GRANTED, MADE)), (NOT_MADE, MADE_BEFORE)),
    OfficeCrash(439, TOKEN, Kill("after merchant configuration"), (MADE_BEFORE,)),
    OfficeCrash(440, RECORD, Kill("before fact recorded"), (NONE,)),
    OfficeCrash(441, RECORD, Kill("after fact recorded"), (HALF,)),
    OfficeCrash(442, RECORD, Kill("after decided completion"), (HALF,)),
    OfficeCrash(443, ERASE, Kill("before person erased"), (NOT_ERASED,)),
    OfficeCrash(444, ERASE, Kill("during person erased", (NAMED, LEFT)), (NOT_ERASED, REPEATED)),
    OfficeCrash(445, ERASE, Kill("after person erased"), (REPEATED,)),
    OfficeCrash(446, INDEX, Kill("before payments indexed"), (COUNTED,)),
    OfficeCrash(447, INDEX, Kill("during payments indexed", (BEHIND, INDEXED)), (COUNTED,)),
    OfficeCrash(448, INDEX, Kill("after payments indexed"), (COUNTED,)),
)
