"""Reads a PMU by the PyPI package synchrophasor: `phasor_client.py PORT ID`; prints configuration and data as JSON."""
import collections
import collections.abc
import json
import logging
import sys

collections.Sequence = collections.abc.Sequence
logging.disable(logging.CRITICAL)

from synchrophasor.frame import ConfigFrame2, DataFrame  # noqa: E402
from synchrophasor.pdc import Pdc  # noqa: E402

pdc = Pdc(pdc_id=int(sys.argv[2]), pmu_ip="127.0.0.1", pmu_port=int(sys.argv[1]))
pdc.run()
configuration = pdc.get_config()
pdc.start()
data = pdc.get()
while not isinstance(data, DataFrame):
    data = pdc.get()
print(
    json.dumps(
        {
            "station": configuration.get_station_name().strip(),
            "is_configuration": isinstance(configuration, ConfigFrame2),
            "rate": configuration.get_data_rate(),
            "nominal": configuration.get_fnom(),
            "phasors": configuration.get_phasor_num(),
            "frequency": data.get_freq(),
        }
    ),
    flush=True,
)
pdc.stop()
pdc.quit()
